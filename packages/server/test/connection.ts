/** What a request on a test's connection states. */
export interface Ask {
  readonly path: string;
  readonly method?: "GET" | "POST" | "PUT";
  readonly headers?: { readonly [name: string]: string };
  /** Sent as JSON. */
  readonly body?: object;
  /** Bytes after which the connection is cut, wherever that is. Default: never. */
  readonly cutAfter?: number;
}

/** One answer, read piece by piece, that may be cut at any byte. */
export interface Connection {
  readonly status: number;
  readonly headers: Headers;
  /** The next bytes; `undefined` at the end. */
  read(): Promise<Uint8Array | undefined>;
  /** True when it was cut; false when the other side ended it. */
  readonly wasCut: boolean;
  cut(): Promise<void>;
}

/** How a test reaches a server. `undefined`: cut before there was an answer. */
export type Connect = (ask: Ask) => Promise<Connection | undefined>;

/** Calls the server in this process: its answer is a web stream that the reader lets go of. */
export function connectInProcess(fetch: (request: Request) => Promise<Response>): Connect {
  return async ({ path, method = "GET", headers = {}, body, cutAfter = Number.POSITIVE_INFINITY }) => {
    const sent = body ? { "Content-Type": "application/json", ...headers } : headers;
    const request = new Request(`http://127.0.0.1${path}`, { method, headers: sent, ...(body ? { body: JSON.stringify(body) } : {}) });
    const response = await fetch(request);
    return connectionOf(response, response.ok ? cutAfter : Number.POSITIVE_INFINITY);
  };
}

function connectionOf(response: Response, cutAfter: number): Connection {
  const reader = response.body?.getReader();
  let left = cutAfter;
  let wasCut = false;
  const cut = async (): Promise<void> => {
    wasCut = true;
    await reader?.cancel().catch(() => {}); // It may have been cut by the other side.
  };
  return {
    status: response.status,
    headers: response.headers,
    get wasCut() {
      return wasCut;
    },
    async read() {
      if (wasCut || !reader) return undefined;
      if (left <= 0) {
        await cut();
        return undefined;
      }
      const { value } = await reader.read().catch(() => ({ value: undefined }));
      if (!value) return undefined;
      if (value.byteLength <= left) {
        left -= value.byteLength;
        return value;
      }
      const part = value.subarray(0, left);
      left = 0;
      await cut();
      return part;
    },
    cut,
  };
}

/** The whole answer as text. */
export async function textOfAnswer(connection: Connection): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for (let bytes = await connection.read(); bytes; bytes = await connection.read()) text += decoder.decode(bytes, { stream: true });
  return text;
}
