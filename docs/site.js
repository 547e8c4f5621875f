// What is wider than the page is scrolled by keys once it has the focus. The
// theme makes the boxes of tables after the page has been loaded, and takes the focus from code that is
// out of sight.
addEventListener("load", () => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap, pre > code")) {
    const focusable = () => {
      if (box.getAttribute("tabindex") !== "0") box.tabIndex = 0;
    };
    focusable();
    new MutationObserver(focusable).observe(box, { attributeFilter: ["tabindex"] });
  }
});
