import { writeFile } from "node:fs/promises";
import { basename } from "node:path";
import type { ListedFile } from "@loopwright/client";
import { AgentError } from "@loopwright/core";
import { keepFile, keptFiles, removeKeptFile } from "@loopwright/server";
import { localScope } from "../../compose/kept-sessions.ts";
import { openStore } from "../../compose/open-store.ts";
import { exitCodes } from "../../exit-code.ts";
import { type SharedFlags, settingsOf } from "../../flags.ts";
import { clientOf } from "../../remote/remote-place.ts";
import { type ServerFlags, serverOf } from "../../remote/server-address.ts";
import { jsonLine } from "../../terminal/json-line.ts";
import { oneLine } from "../../terminal/neutralise.ts";
import { mediaTypeOf } from "../named-files/media-type.ts";
import { readWhole } from "../named-files/read-whole.ts";
import { print } from "../sessions.ts";

export interface FilesFlags extends SharedFlags, ServerFlags {
  readonly json?: boolean;
  readonly type?: string;
  readonly out?: string;
}

/** A file to keep. */
interface NewFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly mediaType: string;
  readonly name: string;
}

/** The files of a scope: of a store, or of a server. */
interface FilePlace {
  page(after: string | undefined): Promise<{ readonly files: readonly ListedFile[]; readonly next?: string }>;
  add(file: NewFile): Promise<Omit<ListedFile, "at" | "by">>;
  read(blob: string): Promise<Uint8Array | undefined>;
  remove(blob: string): Promise<void>;
  close(): Promise<void>;
}

const pageSize = 100;

/** Prints the files, in the order of their keys. @throws AgentError STORE_* */
export async function listFiles(flags: FilesFlags): Promise<number> {
  return withFiles(flags, async (place) => {
    let count = 0;
    for await (const file of allOf(place)) {
      print(flags.json ? jsonLine(file) : lineOf(file));
      count++;
    }
    if (count === 0 && !flags.json) process.stderr.write("There are no files yet. `loopwright files add <path>` keeps one.\n");
    return exitCodes.ok;
  });
}

/** Keeps files, and prints their keys. @throws AgentError INPUT_INVALID, PAYLOAD_TOO_LARGE, STORE_* */
export async function addFiles(paths: readonly string[], flags: FilesFlags): Promise<number> {
  return withFiles(flags, async (place) => {
    for (const path of paths) {
      const bytes = await readWhole(path);
      if (bytes.byteLength === 0)
        throw new AgentError("INPUT_INVALID", {
          message: `The file \`${oneLine(path, 200)}\` is empty.`,
          fix: "Name one that holds something.",
        });
      const kept = await place.add({ bytes, mediaType: flags.type ?? mediaTypeOf(path), name: basename(path) });
      print(flags.json ? jsonLine(kept) : lineOf(kept));
    }
    return exitCodes.ok;
  });
}

/** Writes a file to `--out`, else to standard output. @throws AgentError BLOB_UNKNOWN, INPUT_INVALID where several keys begin so */
export async function readFileOf(typed: string, flags: FilesFlags): Promise<number> {
  return withFiles(flags, async (place) => {
    const file = await fileOf(place, typed);
    const bytes = await place.read(file.blob);
    if (!bytes) throw unknown(typed);
    if (flags.out !== undefined) await writeFile(flags.out, bytes);
    else if (process.stdout.isTTY)
      throw new AgentError("INPUT_INVALID", {
        message: "A terminal does not show files.",
        fix: "Pass `--out <path>`, or send the output elsewhere.",
      });
    else process.stdout.write(bytes);
    return exitCodes.ok;
  });
}

/** Deletes a file, and prints its key. @throws AgentError BLOB_UNKNOWN, FILE_IN_USE, INPUT_INVALID where several keys begin so */
export async function removeFileOf(typed: string, flags: FilesFlags): Promise<number> {
  return withFiles(flags, async (place) => {
    const { blob } = await fileOf(place, typed);
    await place.remove(blob);
    print(`Deleted ${blob}`);
    return exitCodes.ok;
  });
}

async function* allOf(place: FilePlace): AsyncGenerator<ListedFile> {
  let after: string | undefined;
  do {
    const page = await place.page(after);
    yield* page.files;
    after = page.next;
  } while (after !== undefined);
}

/** The file whose key begins so. */
async function fileOf(place: FilePlace, typed: string): Promise<ListedFile> {
  const found: ListedFile[] = [];
  for await (const file of allOf(place)) if (file.blob.startsWith(typed)) found.push(file);
  const [first] = found;
  if (!first) throw unknown(typed);
  if (found.length === 1) return first;
  throw new AgentError("INPUT_INVALID", {
    message: `The keys of ${found.length} files begin with \`${oneLine(typed, 80)}\`.`,
    fix: "Type more of it.",
  });
}

const unknown = (typed: string): AgentError =>
  new AgentError("BLOB_UNKNOWN", {
    message: `There is no file \`${oneLine(typed, 80)}\`.`,
    fix: "See `loopwright files list` for the keys.",
  });

const lineOf = ({ blob, sizeBytes, mediaType, name = "" }: Omit<ListedFile, "at" | "by">): string =>
  oneLine(`${blob} ${sizeBytes} bytes ${mediaType} ${name}`, 500);

async function withFiles(flags: FilesFlags, work: (place: FilePlace) => Promise<number>): Promise<number> {
  const place = flags.url === undefined ? await localFiles(flags) : await remoteFiles(flags);
  try {
    return await work(place);
  } finally {
    await place.close();
  }
}

async function localFiles(flags: FilesFlags): Promise<FilePlace> {
  const { store: place, environment } = await settingsOf({ ...flags, offline: true });
  const store = await openStore(place, { environment });
  return {
    page: (after) => keptFiles(store, localScope, { limit: pageSize, after }),
    add: (file) => keepFile(store, localScope, { ...file, at: Date.now(), by: localScope }),
    read: async (blob) => (await store.blobs.get(localScope, blob))?.bytes,
    remove: (blob) => removeKeptFile(store, localScope, { blob }),
    close: () => store.close(),
  };
}

async function remoteFiles(flags: FilesFlags): Promise<FilePlace> {
  const client = clientOf(await serverOf(flags));
  return {
    page: (after) => client.files({ limit: pageSize, ...(after === undefined ? {} : { after }) }),
    add: ({ bytes, mediaType, name }) => client.uploadFile(new Blob([bytes], { type: mediaType }), name),
    read: async (blob) => (await client.readFile(blob)).bytes,
    remove: (blob) => client.removeFile(blob),
    close: async () => {},
  };
}
