import type { ComponentType } from "react";
import type { IconName } from "../app/icon.tsx";

/** A part of the settings: a name in the list, and a component that is loaded when the section is first opened. */
export interface SettingsSection {
  /** Its place in the address, `#/settings/<id>`: small letters, digits and dashes. Unique. */
  readonly id: string;
  /** What the list and the heading call it. */
  readonly title: string;
  readonly icon: IconName;
  /** The id of a route of the application: the section is shown only where the server has it (`extensions` of `GET /api/access`). Default: always. */
  readonly needs?: string;
  /** The component, by a dynamic import. It gets no props and takes what it needs from `useServices()`; its heading is drawn around it. */
  readonly load: () => Promise<ComponentType>;
}
