// The data of the page.
const DATA = JSON.parse(document.getElementById("data").textContent);
