/** One frame of an event stream, as it stands on the wire. */
export interface Frame {
  readonly id?: string;
  readonly event: string;
  readonly data: string;
}

/** Takes the bytes of one connection, cut anywhere, and gives the frames that are complete. Written after the standard, apart from any library. */
export interface FrameParser {
  push(bytes: Uint8Array): readonly Frame[];
  /** Comments seen. */
  readonly comments: number;
}

export function createFrameParser(): FrameParser {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  let fields: { id?: string; event?: string; data?: string } = {};
  let comments = 0;

  function takeLine(line: string): Frame | undefined {
    if (line === "") {
      const { id, event = "message", data } = fields;
      fields = {};
      return data === undefined ? undefined : { ...(id === undefined ? {} : { id }), event, data };
    }
    if (line.startsWith(":")) {
      comments += 1;
      return undefined;
    }
    const colon = line.indexOf(": ");
    const [name, value] = [line.slice(0, colon), line.slice(colon + 2)];
    if (name === "id" || name === "event") fields[name] = value;
    else if (name === "data") {
      if (fields.data !== undefined) throw new Error("A frame has two lines of data.");
      fields.data = value;
    } else if (name !== "retry") throw new Error(`A frame has the line ${JSON.stringify(line.slice(0, 80))}.`);
    return undefined;
  }

  return {
    push(bytes) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      return lines.map(takeLine).filter((frame) => frame !== undefined);
    },
    get comments() {
      return comments;
    },
  };
}
