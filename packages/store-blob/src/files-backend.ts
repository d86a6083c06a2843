import type { Backend } from "@loopwright/core";
import { blobStore } from "./blob-store.ts";
import { fileBlobs } from "./files/file-blobs.ts";

/** A folder of plain files as the backend of a runtime. @example createRuntime({ agents, ...filesBackend("chats") }) */
export function filesBackend(folder: string): Backend {
  const store = blobStore({ blobs: fileBlobs({ folder }) });
  return { store, close: () => store.close() };
}
