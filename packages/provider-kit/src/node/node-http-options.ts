import type { SecureContextOptions } from "node:tls";

/** Options of `nodeHttp`. */
export interface NodeHttpOptions {
  /**
   * Address of a proxy for every request, `http://user:password@host:port`, or `false` for none. Default: by the variables
   * HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY at the time of this call.
   */
  readonly proxy?: string | false;
  /** Certificates of a private authority, a client certificate, and so on. Default: Node's own. */
  readonly tls?: Pick<SecureContextOptions, "ca" | "cert" | "key" | "passphrase" | "pfx" | "minVersion"> & {
    /** `false` accepts any certificate: for tests alone. */
    readonly rejectUnauthorized?: boolean;
    readonly servername?: string;
  };
  /**
   * Asked before each request for the IP addresses that it may connect to, for URLs that users name: the socket goes to one of them, whatever the name
   * resolves to by then. What it throws is what the request throws. With it there is no proxy.
   */
  readonly addressesOf?: (url: URL) => Promise<readonly string[]>;
  /** Most sockets per host at once; more requests wait. Default: no limit, as in `fetch`. */
  readonly socketsMax?: number;
  /** Most idle sockets kept per host. Default 1,024: a process with as many calls at once opens no connection anew for the next ones. */
  readonly idleSocketsMax?: number;
}
