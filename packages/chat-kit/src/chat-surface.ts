/** A person of a chat vendor. */
export interface ChatPerson {
  /** As the vendor has it; it never changes. */
  readonly id: string;
  /** As others see it. */
  readonly name: string;
}

/** A message that arrived in a chat. */
export interface ChatMessage {
  /** The same at each delivery of the message, and of no other one of the bot. */
  readonly key: string;
  /** The chat or the thread: it has a session of its own. */
  readonly place: string;
  /** One person and the bot alone. */
  readonly isPrivate: boolean;
  readonly person: ChatPerson;
  /** Without the mention of the bot. Begins with `/` for a command. */
  readonly text: string;
}

/** A button that was pressed. */
export interface ChatPress {
  readonly place: string;
  readonly person: ChatPerson;
  /** The id of the button. */
  readonly button: string;
}

/** A button below a message. */
export interface ChatButton {
  /** At most 40 characters of `[a-z0-9-]`. */
  readonly id: string;
  readonly label: string;
  readonly isDangerous?: boolean;
}

/** A file that is sent into a chat. */
export interface ChatFile {
  readonly name: string;
  readonly mediaType: string;
  readonly text: string;
}

/**
 * A chat vendor as the bridge uses it. Every method @throws AgentError FORBIDDEN when the bot may no longer write there, INPUT_INVALID when the vendor
 * will never take this content; every other error means that another attempt may succeed, after `retryAfterMs` where it is given.
 */
export interface ChatSurface {
  /** `[a-z]+`, such as `telegram`. */
  readonly name: string;
  /** The longest Markdown that `send` takes as one message. */
  readonly textCharsMax: number;
  /** Resolves with the id of the message. */
  send(place: string, markdown: string, buttons?: readonly ChatButton[]): Promise<string>;
  /** Gives a message another text, and takes its buttons away. False: people have deleted the message, or it cannot be changed any more. */
  edit(place: string, message: string, markdown: string): Promise<boolean>;
  sendFile(place: string, file: ChatFile): Promise<void>;
  /** Shows that an answer is being made. Called again every few seconds until it is there. */
  showWorking(place: string): Promise<void>;
  /** After so long a message states that the answer is being made; the answer takes its place. Absent: no such message is sent. */
  readonly interimAfterMs?: number;
  /** How often a message shows what was streamed of the answer so far. Absent: only whole answers are shown. */
  readonly streamEveryMs?: number;
  /** What people write before the name of a command, where the vendor keeps `/` for itself. The channel puts `/` in its place. Default: `/`. */
  readonly commandSign?: string;
}
