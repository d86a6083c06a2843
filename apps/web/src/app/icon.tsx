import type { ReactNode } from "react";

/** Lines on a grid of 20 by 20. */
const drawings = {
  plus: "M10 4v12M4 10h12",
  person: "M10 10a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4ZM3.8 16.6a6.2 6.2 0 0 1 12.4 0",
  search: "M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12ZM13.5 13.5 17 17",
  panel: "M3.5 4.5h13v11h-13zM8 4.5v11",
  menu: "M3 6h14M3 10h14M3 14h14",
  more: "M4.4 10a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0M9.4 10a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0M14.4 10a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0",
  edit: "M4 16l.6-3L13 4.6a1.4 1.4 0 0 1 2 0l.4.4a1.4 1.4 0 0 1 0 2L7 15.4 4 16ZM11.5 6.1l2.4 2.4",
  trash: "M4 6h12M8 6V4.2h4V6M5.5 6l.7 10h7.6l.7-10M8.5 9v4M11.5 9v4",
  download: "M10 3.5v9M6.5 9.5 10 13l3.5-3.5M4 16.5h12",
  close: "M5 5l10 10M15 5 5 15",
  send: "M10 16V4.5M5 9.5l5-5 5 5",
  stop: "M6 6h8v8H6z",
  attach: "M15.5 9.5l-5.6 5.6a3.6 3.6 0 0 1-5-5l6-6a2.4 2.4 0 0 1 3.4 3.4l-5.8 5.8a1.2 1.2 0 0 1-1.7-1.7L12 6.4",
  file: "M5.5 3.5h6l3 3v10h-9zM11.5 3.5v3h3",
  sun: "M10 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM10 2.5v1.6M10 15.9v1.6M2.5 10h1.6M15.9 10h1.6M4.7 4.7l1.1 1.1M14.2 14.2l1.1 1.1M4.7 15.3l1.1-1.1M14.2 5.8l1.1-1.1",
  moon: "M16 11.7A6.6 6.6 0 1 1 8.3 4a5.2 5.2 0 0 0 7.7 7.7Z",
  screen: "M3 4.5h14v9H3zM7.5 16.5h5M10 13.5v3",
  keyboard: "M2.5 5.5h15v9h-15zM5.5 8.3h.01M8.5 8.3h.01M11.5 8.3h.01M14.5 8.3h.01M7 11.7h6",
  warning: "M10 3.2 17.5 16h-15zM10 8v3.6M10 13.7h.01",
  info: "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM10 9.3v4M10 6.8h.01",
  check: "M4.5 10.5l3.5 3.5 7.5-8",
  gauge: "M3.5 14a7 7 0 1 1 13 0M10 12.5l3-3.5",
  clock: "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM10 6v4.2l2.6 1.6",
  timeline: "M3.5 5h6M6.5 10h7M11 15h5.5",
  tool: "M12.3 4.2a3.6 3.6 0 0 0-4.2 4.9l-4.4 4.4a1.5 1.5 0 0 0 2.1 2.1l4.4-4.4a3.6 3.6 0 0 0 4.9-4.2l-2.2 2.2-2-2z",
  chevron: "M6 8l4 4 4-4",
  left: "M12 6l-4 4 4 4",
  right: "M8 6l4 4-4 4",
  down: "M10 4v12M5 11l5 5 5-5",
  copy: "M7.5 7.5h9v9h-9zM12.5 7.5v-4h-9v9h4",
  again: "M15.8 8A6.2 6.2 0 1 0 16 12.2M16.4 3.8V8h-4.2",
  fork: "M5.5 6.5v7M5.5 6.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM5.5 16.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM14.5 9a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM14.5 9c0 3-9 1.5-9 4.500",
  link: "M8.5 11.5l3-3M9 6.5l1.6-1.6a3.2 3.2 0 0 1 4.5 4.5L13.5 11M11 13.5l-1.6 1.6a3.2 3.2 0 0 1-4.5-4.5L6.5 9",
  thought: "M10 3a5 5 0 0 0-3 9c.6.5 1 1.2 1 2h4c0-.8.4-1.500 1-2a5 5 0 0 0-3-9ZM8.3 16.8h3.4",
  settings:
    "M3 6h6.5M14.5 6H17M3 14h2.5M10.5 14H17M12 8.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM8 16.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z",
  spark: "M10 3v4M10 13v4M3 10h4M13 10h4",
} as const;

export type IconName = keyof typeof drawings;

/** A drawing of lines in the colour of the text. It has no accessible name: the element around it gives one. */
export function Icon({ name }: { readonly name: IconName }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={drawings[name]} />
    </svg>
  );
}

/** The sign of Loopwright: an open loop. */
export function Sign(): ReactNode {
  return (
    <svg className="sign" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="9" className="sign-ground" />
      <path d="M22.4 11.2A8 8 0 1 0 24 16M24.6 7.4v5h-5" className="sign-loop" />
    </svg>
  );
}
