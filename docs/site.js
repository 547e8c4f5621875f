// A table that is wider than the page is scrolled by keys once it has the focus. The theme makes
// the boxes after the page has been loaded.
addEventListener("load", () => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap")) box.tabIndex = 0;
});
