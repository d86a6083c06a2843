import type { ListedFile } from "@loopwright/client";
import type { AgentError } from "@loopwright/core/protocol";
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { Dialog } from "../../app/dialog.tsx";
import { fetchFile } from "../../app/fetch-file.ts";
import { errorOf } from "../../app/notices.ts";
import { ProblemNote } from "../../app/problem-note.tsx";
import { useServices } from "../../app/services.ts";
import { mediaTypeOf, sizeLabel } from "../../composer/outgoing.ts";
import { PlainText } from "../../conversation/markdown/plain-text.tsx";
import { downloadBlob } from "../../sidebar/download.ts";
import { KnowledgeList } from "./knowledge-list.tsx";

interface Listed {
  readonly files: readonly ListedFile[];
  readonly next?: string | undefined;
  readonly error?: AgentError;
}

const pageSize = 50;

/** The files of the team that the user may see: read here, added, downloaded, deleted. */
export function FilesSection(): ReactNode {
  const { client, server, notices } = useServices();
  const [listed, setListed] = useState<Listed>();
  const [isBusy, setBusy] = useState(false);
  const [doomed, setDoomed] = useState<ListedFile>();
  const chooser = useRef<HTMLInputElement>(null);

  const read = useCallback(
    async (before: readonly ListedFile[] = [], after?: string): Promise<void> => {
      try {
        const page = await client.files({ limit: pageSize, ...(after === undefined ? {} : { after }) });
        setListed({ files: [...before, ...page.files], next: page.next });
      } catch (error) {
        setListed({ files: before, next: after, error: errorOf(error) });
      }
    },
    [client],
  );
  useEffect(() => void read(), [read]);

  const upload = async (chosen: FileList | null): Promise<void> => {
    setBusy(true);
    try {
      for (const file of chosen ?? []) {
        const type = mediaTypeOf(file);
        await client.uploadFile(new Blob([file], { type }), file.name);
        notices.say(`Uploaded ${file.name.slice(0, 60)}`);
      }
      await read();
    } catch (error) {
      notices.fail(error);
    }
    setBusy(false);
    if (chooser.current) chooser.current.value = "";
  };
  const remove = ({ blob, name = "the file" }: ListedFile): void => {
    setDoomed(undefined);
    client
      .removeFile(blob)
      .then(() => {
        notices.say(`Deleted ${name.slice(0, 60)}`);
        setListed((before) => before && { ...before, files: before.files.filter((file) => file.blob !== blob) });
      })
      .catch(notices.fail);
  };
  const keep = ({ blob, name = blob }: ListedFile): void => {
    fetchFile(client.fileUrl(blob), server).then((file) => downloadBlob(name, file), notices.fail);
  };

  return (
    <>
      <p>
        <input
          ref={chooser}
          type="file"
          multiple
          className="visually-hidden"
          tabIndex={-1}
          aria-label="Files to upload"
          onChange={({ currentTarget }) => void upload(currentTarget.files)}
        />
        <button type="button" className="button" disabled={isBusy} onClick={() => chooser.current?.click()}>
          {isBusy ? "Uploading" : "Upload files"}
        </button>
      </p>
      {listed?.error ? <ProblemNote error={listed.error} /> : null}
      {listed && listed.files.length === 0 && !listed.error ? (
        <p className="settings-empty">The team has no files that you may see.</p>
      ) : null}
      <ul className="settings-cards" aria-label="Files of the team">
        {(listed?.files ?? []).map((file) => (
          <li key={file.blob} className="file-card">
            <span className="file-name">
              <PlainText text={file.name ?? file.mediaType} />
            </span>
            <span className="settings-hint">
              {sizeLabel(file.sizeBytes)}, {new Date(file.at).toLocaleDateString()}, <PlainText text={file.by} />
            </span>
            <span className="file-buttons">
              <button
                type="button"
                className="button small"
                aria-label={`Download ${file.name ?? file.mediaType}`}
                onClick={() => keep(file)}
              >
                Download
              </button>
              <button
                type="button"
                className="button small"
                aria-label={`Delete ${file.name ?? file.mediaType}`}
                onClick={() => setDoomed(file)}
              >
                Delete
              </button>
            </span>
          </li>
        ))}
      </ul>
      {listed?.next === undefined ? null : (
        <button type="button" className="button small" onClick={() => void read(listed.files, listed.next)}>
          Show more
        </button>
      )}
      {doomed ? (
        <Dialog title={`Delete ${(doomed.name ?? doomed.mediaType).slice(0, 60)}?`} onClose={() => setDoomed(undefined)}>
          <p>It cannot be restored. A file that a conversation uses stays until the last such conversation is deleted.</p>
          <div className="dialog-actions">
            <button type="button" className="button" data-focus onClick={() => setDoomed(undefined)}>
              Keep
            </button>
            <button type="button" className="button danger" onClick={() => remove(doomed)}>
              Delete
            </button>
          </div>
        </Dialog>
      ) : null}
      <KnowledgeList />
    </>
  );
}
