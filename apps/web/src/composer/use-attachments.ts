import { useEffect, useRef, useState } from "react";
import type { DraftFile } from "../app/drafts.ts";
import { errorOf } from "../app/notices.ts";
import { newId } from "./new-id.ts";
import { mediaTypeOf, sizeLabel } from "./outgoing.ts";
import { type UploadOptions, uploadFile } from "./upload-file.ts";

/** A file on its way to the server. */
export interface Upload {
  readonly id: string;
  readonly name: string;
  readonly sizeBytes: number;
  /** Share that has arrived, 0 to 1; absent while it is not known. */
  readonly progress?: number;
  /** Why it did not arrive. */
  readonly error?: string;
}

export interface Attachments {
  readonly uploads: readonly Upload[];
  add(files: readonly File[]): void;
  /** Gives an upload up. */
  drop(id: string): void;
}

/** The default limit of a server: checked before, since it ends the connection of a larger file at once. */
const fileBytesMax = 10 * 1024 * 1024;

/** Brings files to the server at once, so that sending a message does not wait for them; `onReady` is called for each that arrived. */
export function useAttachments(server: UploadOptions["server"], onReady: (file: DraftFile) => void): Attachments {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const aborts = useRef(new Map<string, AbortController>());
  const ready = useRef(onReady);
  useEffect(() => {
    ready.current = onReady;
  });
  useEffect(() => {
    const open = aborts.current;
    return () => {
      for (const abort of open.values()) abort.abort();
    };
  }, []);

  const change = (id: string, part: Partial<Upload>): void => {
    setUploads((now) => now.map((upload) => (upload.id === id ? { ...upload, ...part } : upload)));
  };
  const drop = (id: string): void => {
    aborts.current.get(id)?.abort();
    setUploads((now) => now.filter((upload) => upload.id !== id));
  };
  const bring = async (id: string, file: File): Promise<void> => {
    const abort = new AbortController();
    aborts.current.set(id, abort);
    const mediaType = mediaTypeOf(file);
    try {
      if (file.size > fileBytesMax) throw new Error(`Too large: ${sizeLabel(file.size)}, at most ${sizeLabel(fileBytesMax)}.`);
      const body = mediaType === file.type ? file : new Blob([file], { type: mediaType });
      const { blob, sizeBytes } = await uploadFile(body, {
        server,
        name: file.name,
        signal: abort.signal,
        onProgress: (sent) => change(id, { progress: sent / Math.max(1, file.size) }),
      });
      drop(id);
      ready.current({ blob, mediaType, sizeBytes, name: file.name });
    } catch (error) {
      if (!abort.signal.aborted) change(id, { error: errorOf(error).message });
    } finally {
      aborts.current.delete(id);
    }
  };

  return {
    uploads,
    add(files) {
      const fresh = files.map((file) => ({ file, upload: { id: newId(), name: file.name, sizeBytes: file.size } }));
      setUploads((now) => [...now, ...fresh.map(({ upload }) => upload)]);
      for (const { file, upload } of fresh) void bring(upload.id, file);
    },
    drop,
  };
}
