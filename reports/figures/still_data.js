// The data of the static figures.
const FILES = require("fs"), DATA = JSON.parse(FILES.readFileSync(process.argv[2], "utf8"));
