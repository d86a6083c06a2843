import type { ReactNode } from "react";
import type { DraftFile } from "../app/drafts.ts";
import { Icon } from "../app/icon.tsx";
import { useFileAddress } from "../app/use-file-address.ts";
import { inertText } from "../conversation/markdown/plain-text.tsx";
import { isPicture, sizeLabel } from "./outgoing.ts";
import type { Upload } from "./use-attachments.ts";

export interface AttachmentListProps {
  readonly files: readonly DraftFile[];
  readonly uploads: readonly Upload[];
  readonly fileUrl: (blob: string) => string;
  readonly onRemove: (place: number) => void;
  readonly onDrop: (id: string) => void;
}

/** The files that the message will carry, and those on their way. */
export function AttachmentList({ files, uploads, fileUrl, onRemove, onDrop }: AttachmentListProps): ReactNode {
  if (files.length === 0 && uploads.length === 0) return null;
  return (
    <ul className="attachments" aria-label="Attachments">
      {files.map(({ blob, name = "file", mediaType, sizeBytes }, place) => (
        <li key={blob} className="attachment">
          {isPicture(mediaType) ? (
            <AttachmentPicture address={fileUrl(blob)} />
          ) : (
            <span className="attachment-sign">
              <Icon name="file" />
            </span>
          )}
          <span className="attachment-text">
            <span className="attachment-name">{inertText(name)}</span>
            <span className="attachment-size">{sizeLabel(sizeBytes)}</span>
          </span>
          <button type="button" className="icon-button small" aria-label={`Remove ${name}`} onClick={() => onRemove(place)}>
            <Icon name="close" />
          </button>
        </li>
      ))}
      {uploads.map(({ id, name, sizeBytes, progress, error }) => (
        <li key={id} className={error === undefined ? "attachment" : "attachment failed"}>
          <span className="attachment-sign">{error === undefined ? <span className="spinner" /> : <Icon name="warning" />}</span>
          <span className="attachment-text">
            <span className="attachment-name">{inertText(name)}</span>
            {error === undefined ? (
              <progress
                className="attachment-progress"
                aria-label={`Uploading ${name}, ${sizeLabel(sizeBytes)}`}
                {...(progress === undefined ? {} : { value: progress })}
              />
            ) : (
              <span className="attachment-error" role="alert">
                {error}
              </span>
            )}
          </span>
          <button type="button" className="icon-button small" aria-label={`Remove ${name}`} onClick={() => onDrop(id)}>
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}

function AttachmentPicture({ address }: { readonly address: string }): ReactNode {
  return <img className="attachment-picture" src={useFileAddress(address)} alt="" />;
}
