import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from "react";
import { Icon, type IconName } from "./icon.tsx";

export interface MenuItem {
  readonly label: string;
  readonly icon: IconName;
  readonly isDanger?: boolean;
  /** Draws a line above it. */
  readonly isApart?: boolean;
  readonly onChoose: () => void;
}

export interface MenuButtonProps {
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly icon?: IconName;
  readonly className?: string;
}

const edge = 8;

/** A button that opens a menu: arrows move, Escape and a click elsewhere close it, the focus comes back. */
export function MenuButton({ label, items, icon = "more", className = "icon-button" }: MenuButtonProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  // A press on the button closes an open menu before the click comes.
  const wasOpen = useRef(false);
  const id = useId();

  const open = (): void => {
    const list = menu.current;
    const anchor = button.current?.getBoundingClientRect();
    if (!list || !anchor) return;
    list.showPopover();
    const { width, height } = list.getBoundingClientRect();
    const below = anchor.bottom + 4;
    list.style.left = `${Math.max(edge, Math.min(anchor.right - width, innerWidth - width - edge))}px`;
    list.style.top = `${below + height > innerHeight - edge ? Math.max(edge, anchor.top - height - 4) : below}px`;
    itemsIn(list)[0]?.focus();
  };

  return (
    <>
      <button
        ref={button}
        type="button"
        className={className}
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={id}
        onPointerDown={() => {
          wasOpen.current = isMenuOpen(menu.current);
        }}
        onClick={({ detail }) => {
          // A click of the keyboard has no press before it.
          const closes = detail === 0 ? isMenuOpen(menu.current) : wasOpen.current;
          if (closes) menu.current?.hidePopover();
          else open();
        }}
      >
        <Icon name={icon} />
      </button>
      <div
        ref={menu}
        id={id}
        className="menu"
        role="menu"
        aria-label={label}
        popover="auto"
        onToggle={(event) => setOpen(event.newState === "open")}
        onKeyDown={moveFocus}
      >
        {items.map((item) => (
          <div key={item.label} role="none">
            {item.isApart ? <hr className="menu-separator" /> : null}
            <button
              type="button"
              role="menuitem"
              tabIndex={-1}
              className={item.isDanger ? "menu-item danger" : "menu-item"}
              onClick={() => {
                menu.current?.hidePopover();
                item.onChoose();
              }}
            >
              <Icon name={item.icon} />
              {item.label}
            </button>
          </div>
        ))}
      </div>
    </>
  );
}

/** Asked of the browser: what React knows comes a moment later. */
function isMenuOpen(list: HTMLElement | null): boolean {
  return list?.matches(":popover-open") ?? false;
}

function itemsIn(list: HTMLElement): readonly HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>('[role="menuitem"]')];
}

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const items = itemsIn(event.currentTarget);
  const place = event.target instanceof HTMLElement ? items.indexOf(event.target) : -1;
  const next = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: -1 }[event.key];
  if (event.key === "Tab") event.currentTarget.hidePopover();
  if (next === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  items.at(next === items.length ? 0 : next)?.focus();
}
