import { type ClientOptions, createClient, type UploadedFile } from "@loopwright/client";

export interface UploadOptions {
  readonly server: Pick<ClientOptions, "url" | "token" | "scope">;
  readonly name: string;
  readonly signal: AbortSignal;
  /** Called with the number of bytes sent. */
  readonly onProgress: (sentBytes: number) => void;
}

/** Uploads a file and reports its progress. @throws AgentError as `uploadFile` of the client */
export function uploadFile(file: Blob, { server, name, signal, onProgress }: UploadOptions): Promise<UploadedFile> {
  const client = createClient({ ...server, fetch: (request) => send(request, file, onProgress) });
  return client.uploadFile(file, name, { signal });
}

/** As `fetch`, which in 2026 still does not report how much of a body was sent. */
function send(request: Request, body: Blob, onProgress: (sentBytes: number) => void): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const sender = new XMLHttpRequest();
  sender.open(request.method, request.url);
  sender.responseType = "text";
  for (const [name, value] of request.headers) sender.setRequestHeader(name, value);
  sender.upload.onprogress = ({ loaded }) => onProgress(loaded);
  sender.onload = () => resolve(new Response(sender.responseText, { status: sender.status, headers: headersOf(sender) }));
  sender.onerror = () => reject(new TypeError("The upload broke off."));
  sender.onabort = () => reject(request.signal.reason);
  request.signal.addEventListener("abort", () => sender.abort(), { once: true });
  if (request.signal.aborted) reject(request.signal.reason);
  else sender.send(body);
  return promise;
}

function headersOf(sender: XMLHttpRequest): Headers {
  const headers = new Headers();
  for (const name of ["Content-Type", "Retry-After"]) {
    const value = sender.getResponseHeader(name);
    if (value !== null) headers.set(name, value);
  }
  return headers;
}
