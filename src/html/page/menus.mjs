// Menus of the bar: what is behind a button lies over the page, and goes when somebody is done with it.

export function closeMenusOnLeave(document) {
  const menus = Array.from(document.querySelectorAll('details.menu'));
  const closeOthers = (target) => {
    for (const menu of menus) if (!menu.contains(target)) menu.open = false;
  };
  document.addEventListener('pointerdown', (event) => closeOthers(event.target));
  for (const menu of menus) {
    menu.addEventListener('focusout', (event) => {
      if (event.relatedTarget !== null && !menu.contains(event.relatedTarget)) menu.open = false;
    });
    menu.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !menu.open) return;
      menu.open = false;
      menu.querySelector('summary').focus();
    });
  }
}
