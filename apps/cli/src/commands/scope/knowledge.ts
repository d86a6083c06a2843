import { basename } from "node:path";
import type { KnownDocument } from "@loopwright/client";
import { AgentError } from "@loopwright/core";
import { localScope } from "../../compose/kept-sessions.ts";
import { openKnowledge } from "../../compose/knowledge/open-knowledge.ts";
import { exitCodes } from "../../exit-code.ts";
import { type SharedFlags, settingsOf } from "../../flags.ts";
import { clientOf } from "../../remote/remote-place.ts";
import { type ServerFlags, serverOf } from "../../remote/server-address.ts";
import { jsonLine } from "../../terminal/json-line.ts";
import { oneLine } from "../../terminal/neutralise.ts";
import { mediaTypeOf } from "../named-files/media-type.ts";
import { readWhole } from "../named-files/read-whole.ts";
import { print } from "../sessions.ts";

export interface KnowledgeFlags extends SharedFlags, ServerFlags {
  readonly json?: boolean;
  readonly id?: string;
  readonly title?: string;
  readonly type?: string;
  readonly knowledge?: string;
}

/** A file to learn. */
interface NewDocument {
  readonly id: string;
  readonly title?: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly mediaType: string;
}

/** The knowledge base of a scope: of a file, or of a server. */
interface KnowledgePlace {
  list(): AsyncIterable<KnownDocument>;
  add(document: NewDocument): Promise<KnownDocument>;
  remove(id: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Prints the documents, by id. @throws AgentError STORE_*, ROUTE_NOT_FOUND */
export async function listKnowledge(flags: KnowledgeFlags): Promise<number> {
  return withKnowledge(flags, async (place) => {
    let count = 0;
    for await (const document of place.list()) {
      print(flags.json ? jsonLine(document) : lineOf(document));
      count++;
    }
    if (count === 0 && !flags.json)
      process.stderr.write("The knowledge base is empty. `loopwright knowledge add <path>` adds a document.\n");
    return exitCodes.ok;
  });
}

/** Learns files; each is known by its name, or by `--id`. @throws AgentError INPUT_INVALID, MEDIA_TYPE_UNSUPPORTED, PAYLOAD_TOO_LARGE, FORBIDDEN, STORE_* */
export async function addKnowledge(paths: readonly string[], flags: KnowledgeFlags): Promise<number> {
  const { id, title, type } = flags;
  if (paths.length > 1 && (id ?? title) !== undefined)
    throw new AgentError("INPUT_INVALID", { message: "`--id` and `--title` are those of one document.", fix: "Add the files one by one." });
  return withKnowledge(flags, async (place) => {
    for (const path of paths) {
      const named = { id: id ?? basename(path), ...(title === undefined ? {} : { title }) };
      const added = await place.add({ ...named, bytes: await readWhole(path), mediaType: type ?? mediaTypeOf(path) });
      print(flags.json ? jsonLine(added) : lineOf(added));
    }
    return exitCodes.ok;
  });
}

/** Removes a document with its passages; the exit code is 1 where there is none. @throws AgentError FORBIDDEN, STORE_* */
export async function removeKnowledge(id: string, flags: KnowledgeFlags): Promise<number> {
  return withKnowledge(flags, async (place) => {
    const isRemoved = await place.remove(id);
    process.stderr.write(isRemoved ? `Removed ${oneLine(id, 200)}.\n` : `There is no document \`${oneLine(id, 200)}\`.\n`);
    return isRemoved ? exitCodes.ok : exitCodes.failed;
  });
}

const lineOf = ({ id, title, passageCount }: KnownDocument): string =>
  oneLine(`${id} ${passageCount === 1 ? "1 passage" : `${passageCount} passages`} ${title}`, 500);

async function withKnowledge(flags: KnowledgeFlags, work: (place: KnowledgePlace) => Promise<number>): Promise<number> {
  const place = flags.url === undefined ? await localKnowledge(flags) : await remoteKnowledge(flags);
  try {
    return await work(place);
  } finally {
    await place.close();
  }
}

async function localKnowledge(flags: KnowledgeFlags): Promise<KnowledgePlace> {
  const settings = await settingsOf({ ...flags, offline: true });
  const knowledge = await openKnowledge(settings);
  if (!knowledge)
    throw new AgentError("CONFIG_INVALID", { message: "There is no knowledge base.", fix: "Name one with `--knowledge <file>`." });
  const place = { scope: localScope };
  return {
    async *list() {
      yield* await knowledge.list(place);
    },
    add: async (document) => (await knowledge.add(place, document)).document,
    remove: (id) => knowledge.remove(place, id),
    close: () => knowledge.close(),
  };
}

async function remoteKnowledge(flags: KnowledgeFlags): Promise<KnowledgePlace> {
  const client = clientOf(await serverOf(flags));
  return {
    async *list() {
      let after: string | undefined;
      do {
        const page = await client.knowledge({ limit: 100, ...(after === undefined ? {} : { after }) });
        yield* page.documents;
        after = page.next;
      } while (after !== undefined);
    },
    add: ({ bytes, mediaType, ...named }) => client.addKnowledge(new Blob([bytes], { type: mediaType }), named),
    remove: (id) => client.removeKnowledge(id),
    close: async () => {},
  };
}
