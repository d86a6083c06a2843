/* Whether tenants see nothing of each other. */

/** The events of one watcher of one tenant, and the words that only one tenant uses. */
export interface TenantEvidence {
  readonly scope: string;
  /** The words of each scope. */
  readonly words: { readonly [scope: string]: string };
  /** The words that were in the received events or in the log. */
  readonly received: ReadonlySet<string>;
  /** True if this tenant has sent a message. */
  readonly hasSpoken: boolean;
}

/** I13: the words of a tenant reach its own watchers, and no others. */
export function checkTenantWords({ scope, words, received, hasSpoken }: TenantEvidence): readonly string[] {
  const foreign = Object.entries(words).filter(([other, word]) => other !== scope && received.has(word));
  const own = words[scope] ?? "";
  return [
    ...foreign.map(([other]) => `I13: the tenant ${scope} received what ${other} sent`),
    ...(hasSpoken && !received.has(own)
      ? [`I13: the tenant ${scope} was not notified of its own words, so that nothing is known of others'`]
      : []),
  ];
}

/** The answer of a node to a tenant that asked for data of another tenant. */
export interface ForeignAnswer {
  readonly asked: string;
  readonly status: number;
}

/** I13: data of another tenant is answered as not found. */
export function checkForeignAnswers(answers: readonly ForeignAnswer[]): readonly string[] {
  return answers
    .filter(({ status }) => status !== 404)
    .map(({ asked, status }) => `I13: ${asked} of another tenant was answered with ${status}, not with 404`);
}
