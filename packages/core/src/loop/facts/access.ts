/** Values by name, with names and meanings of the deployment. The runtime records them and passes them to prompts, hooks and tools. */
export interface Labels {
  readonly [name: string]: string;
}

/** The acting user, established by authentication. */
export interface Access {
  readonly user: string;
  readonly scope: string;
  readonly roles?: readonly string[];
  /** Set by authentication alone, never by a request. */
  readonly labels?: Labels;
}

/** What a user may do in a shared session: read it, also take part in it, or do everything with it. */
export type SharingRole = "viewer" | "member" | "owner";

/** The users of its scope that a session is shared with. The runtime records it; a policy of access reads it. */
export interface Sharing {
  /** What every user of the scope may do. Absent: nothing. */
  readonly scope?: Exclude<SharingRole, "owner">;
  readonly users?: { readonly [user: string]: SharingRole };
}
