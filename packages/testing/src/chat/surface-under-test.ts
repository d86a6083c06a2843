/** A button as `ChatButton` of `@loopwright/chat-kit`. */
export interface StatedButton {
  readonly id: string;
  readonly label: string;
  readonly isDangerous?: boolean;
}

/** The same shape as `ChatSurface` of `@loopwright/chat-kit`. */
export interface StatedSurface {
  readonly name: string;
  readonly textCharsMax: number;
  readonly interimAfterMs?: number;
  readonly streamEveryMs?: number;
  readonly commandSign?: string;
  send(place: string, markdown: string, buttons?: readonly StatedButton[]): Promise<string>;
  edit(place: string, message: string, markdown: string): Promise<boolean>;
  sendFile(place: string, file: { readonly name: string; readonly mediaType: string; readonly text: string }): Promise<void>;
  showWorking(place: string): Promise<void>;
}

/** A message as people see it in a chat. */
export interface ShownMessage {
  /** Without markup. */
  readonly text: string;
  readonly buttons: readonly { readonly id: string; readonly label: string }[];
  readonly file?: { readonly name: string; readonly text: string };
}

/** How a vendor answers from now on: not at all, or that the bot may not write in the place any more. */
export type VendorFate = "outage" | "closed";

/**
 * A surface over a vendor of the test's own, which refuses what the real one refuses.
 *
 * What it may lack: `limits` (the vendor has none), `limits by place` (a limit counts everywhere), `outages` (the vendor is in the process), `closed places`,
 * `deleted messages`, `refusals` (there is no content that the vendor refuses).
 */
export interface SurfaceUnderTest {
  readonly surface: StatedSurface;
  /** Two chats that the bot may write in, and that are empty. */
  readonly places: readonly [string, string];
  /** What people see in a place, the oldest first. */
  shown(place: string): readonly ShownMessage[];
  /** People delete the newest message of a place. Needed for `deleted messages`. */
  removeNewest?(place: string): void;
  /** Needed for `outages` and `closed places`. */
  meet?(fate: VendorFate, place: string): void;
  /** From now on a message to this place meets the vendor's limit, which passes after so many seconds of the surface's clock, on which waits pass at once. */
  limit?(place: string, seconds: number): void;
  /** The vendor takes everything again. */
  heal?(): void;
  /** Sends what the vendor will never take. Needed for `refusals`. */
  sendRefused?(): Promise<unknown>;
  /** Tokens of the bot. */
  readonly secrets: readonly string[];
}
