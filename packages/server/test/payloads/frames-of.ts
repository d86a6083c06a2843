/** One frame of an event stream. */
export interface Frame {
  readonly event: string;
  readonly id?: string;
  readonly data: { readonly [name: string]: unknown };
}

/** The frames of a stream that ends, comments and `retry` left out. Throws where a line is none that this server writes. */
export async function framesOf(response: Response): Promise<readonly Frame[]> {
  return framesIn(await response.text());
}

export function framesIn(text: string): readonly Frame[] {
  const frames: Frame[] = [];
  for (const block of text.split("\n\n")) {
    if (block === "" || /^(?:retry: \d+|: [a-z]+)$/.test(block)) continue;
    const match = /^(?:id: (\d+\.\d+)\n)?event: ([A-Za-z_]+)\ndata: ([^\n\r]*)$/.exec(block);
    if (!match) throw new Error(`No frame: ${JSON.stringify(block.slice(0, 300))}`);
    const [, id, event = "", data = ""] = match;
    frames.push({ event, data: JSON.parse(data) as Frame["data"], ...(id === undefined ? {} : { id }) });
  }
  return frames;
}
