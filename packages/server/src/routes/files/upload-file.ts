import { AgentError } from "@loopwright/core";
import { fileName } from "@loopwright/core/stores";
import { z } from "zod";
import { readBody } from "../../request/read-body.ts";
import type { Route } from "../../request/route.ts";
import { answerInTime } from "../answer-in-time.ts";
import { runUnderKey } from "../idempotency/replay-stored-answer.ts";
import { keepFile } from "./store-file.ts";

const mediaTypePattern = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;
const answer = z.object({ blob: z.string(), mediaType: z.string(), sizeBytes: z.int(), name: z.string().optional() });

export const uploadFileRoute: Route = {
  method: "POST",
  path: "/api/files",
  id: "uploadFile",
  summary: "Keeps a file, to be named as `source.blob` in a message. The body is the file, `Content-Type` its media type.",
  access: "principal",
  action: "file.upload",
  isRefusedAtEnd: true,
  hasRawBody: true,
  responses: {
    201: { description: "Where it is. The same bytes under the same media type are kept once.", schema: answer },
    400: { description: "The file is empty, or its name cannot be read." },
    413: { description: "The file is too large, or a picture has too many pixels." },
    415: { description: "The media type is missing, or the bytes are of another one." },
    422: { description: "The `Idempotency-Key` came with another file." },
  },
  async handle(call) {
    const { request, server } = call;
    const { scope } = call.principal;
    const mediaType = request.headers.get("Content-Type")?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
    if (!mediaTypePattern.test(mediaType))
      throw new AgentError("MEDIA_TYPE_UNSUPPORTED", {
        message: "`Content-Type` names no media type.",
        fix: "Send the media type of the file, for example `image/png`.",
      });
    const name = nameOf(request);
    const { fileBytes, fileMs, filePaceBytes, bodyMs } = server.limits;
    const pace = { bytes: filePaceBytes, everyMs: bodyMs };
    const bytes = await readBody(request, { bytesMax: fileBytes, totalMs: fileMs, pace, clock: server.clock });
    if (bytes.byteLength === 0)
      throw new AgentError("INPUT_INVALID", { message: "The file is empty.", fix: "Send its bytes as the body." });
    const blob = await fileName(bytes, mediaType);
    const file = { blob, mediaType, sizeBytes: bytes.byteLength, ...(name === undefined ? {} : { name }) };
    const { store } = server.options;
    const keeping = runUnderKey(call, { purpose: "file", content: file }, async () => {
      await keepFile(store, scope, { bytes, mediaType, name, at: server.clock.now(), by: call.principal.user });
    });
    await answerInTime(keeping, server);
    return Response.json(file, { status: 201 });
  },
};

/** The last segment of the name, because a client may have sent a path. */
function nameOf(request: Request): string | undefined {
  const header = request.headers.get("X-File-Name");
  if (header === null || header === "") return undefined;
  try {
    const name = decodeURIComponent(header).split(/[\\/]/).at(-1) ?? "";
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
    if (name !== "" && name.length <= 255 && !/[\u0000-\u001f\u007f]/.test(name)) return name;
  } catch {
    // Refused below.
  }
  throw new AgentError("INPUT_INVALID", {
    message: "`X-File-Name` is not a file name.",
    fix: "Send at most 255 characters, percent-encoded.",
  });
}
