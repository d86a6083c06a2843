import type { InputMode, WaitingInput } from "@loopwright/core/protocol";
import { type ClipboardEvent, type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { Icon } from "../app/icon.tsx";
import { ProblemNote } from "../app/problem-note.tsx";
import { useServices } from "../app/services.ts";
import { AttachmentList } from "./attachment-list.tsx";
import { ModeSwitch } from "./mode-switch.tsx";
import { isSendable, type Outgoing } from "./outgoing.ts";
import { useAttachments } from "./use-attachments.ts";
import { useFileDrop } from "./use-file-drop.ts";
import { useSending } from "./use-sending.ts";
import { WaitingList } from "./waiting-list.tsx";

export interface ComposerProps {
  /** Whose draft it is: the session's id, or the empty text for a new conversation. */
  readonly draftOf: string;
  /** An answer is under way: what is sent waits or joins it. */
  readonly isRunning: boolean;
  readonly isStopping: boolean;
  readonly waiting: readonly WaitingInput[];
  readonly placeholder: string;
  /** Resolves when the message is safe with the server. */
  readonly send: (outgoing: Outgoing) => Promise<void>;
  readonly stop: () => void;
  /** False while the connection to the session is lost: what could not be sent is sent when it is back. */
  readonly isConnected?: boolean;
  /** The model picker. */
  readonly children?: ReactNode;
}

/** The modes that a person chooses. */
const modes: readonly InputMode[] = ["enqueue", "merge", "steer"];

/** Where a message is written. Give it a `key` per session. */
export function Composer(props: ComposerProps): ReactNode {
  const { isRunning, isStopping, waiting, stop, isConnected = true } = props;
  const { client, kept, server } = useServices();
  const field = useRef<HTMLTextAreaElement>(null);
  const [mode, setMode] = useState<InputMode>(modes.find((one) => one === kept.get("mode")) ?? "enqueue");
  const { draft, setDraft, sending, problem, send } = useSending(props.draftOf, props.send, isConnected);
  const attachments = useAttachments(server, (file) => setDraft((now) => ({ text: now.text, files: [...now.files, file] })));
  const isDragged = useFileDrop(attachments.add);
  const maySend = isSendable(draft) && sending === undefined && attachments.uploads.every(({ error }) => error !== undefined);

  useEffect(() => {
    if (matchMedia("(pointer: fine)").matches) field.current?.focus({ preventScroll: true });
  }, []);

  const submit = (as: InputMode): void => {
    if (!maySend) return;
    void send(isRunning ? as : "enqueue");
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // An input method takes Enter for itself: 229 is the code of older browsers for such a key.
    if (event.key !== "Enter" || event.nativeEvent.isComposing || event.keyCode === 229) return;
    if (event.shiftKey || event.altKey) return;
    event.preventDefault();
    submit(event.ctrlKey || event.metaKey ? "steer" : mode);
  };
  const onPaste = (event: ClipboardEvent): void => {
    const files = [...event.clipboardData.files];
    if (files.length === 0) return;
    event.preventDefault();
    attachments.add(files);
  };

  return (
    <form
      className="composer"
      aria-label="Write a message"
      onSubmit={(event) => {
        event.preventDefault();
        submit(mode);
      }}
    >
      <WaitingList waiting={waiting} {...(sending === undefined ? {} : { sending: sending.text })} />
      {problem ? (
        <ProblemNote error={problem}>
          <button type="submit" className="button small" disabled={!maySend}>
            Send again
          </button>
          {isConnected ? null : <span>It is sent as soon as the connection is back.</span>}
        </ProblemNote>
      ) : null}
      <div className="composer-box" data-dragged={isDragged}>
        <AttachmentList
          files={draft.files}
          uploads={attachments.uploads}
          fileUrl={(blob) => client.fileUrl(blob)}
          onRemove={(place) => setDraft((now) => ({ text: now.text, files: now.files.toSpliced(place, 1) }))}
          onDrop={attachments.drop}
        />
        <textarea
          ref={field}
          id="message"
          className="composer-field"
          aria-label="Message"
          placeholder={props.placeholder}
          rows={1}
          value={draft.text}
          onChange={({ currentTarget: { value } }) => setDraft((now) => ({ text: value, files: now.files }))}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <div className="composer-bar">
          <FileButton onFiles={attachments.add} />
          {props.children}
          <span className="composer-space" />
          {isRunning ? (
            <ModeSwitch
              mode={mode}
              onChange={(next) => {
                setMode(next);
                kept.set("mode", next);
              }}
            />
          ) : null}
          {isRunning ? (
            <button
              type="button"
              className="round-button stop"
              aria-label={isStopping ? "Stopping" : "Stop"}
              title="Stop (Esc)"
              disabled={isStopping}
              onClick={stop}
            >
              <Icon name="stop" />
            </button>
          ) : null}
          <button type="submit" className="round-button send" aria-label="Send" title="Send (Enter)" disabled={!maySend}>
            <Icon name="send" />
          </button>
        </div>
        {isDragged ? <p className="composer-drop">Drop files to attach them</p> : null}
      </div>
    </form>
  );
}

function FileButton({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" className="icon-button" aria-label="Attach files" title="Attach files" onClick={() => input.current?.click()}>
        <Icon name="attach" />
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          currentTarget.value = "";
        }}
      />
    </>
  );
}
