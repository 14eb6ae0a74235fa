// Starts a page without records.
startTheme();
enhanceTables();
fillNavigation();
document.documentElement.dataset.ready = "yes";
