/** What new sessions and their messages begin with. */
export interface RemoteChoice {
  /** Of a new session. Default: the server's first. */
  readonly agent?: string | undefined;
  readonly modes?: readonly string[];
}
