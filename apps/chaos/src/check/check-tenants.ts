/* Whether tenants see nothing of each other. */

/** The events of one watcher of one tenant, and the words that only one tenant uses. */
export interface TenantEvidence {
  readonly scope: string;
  /** By scope. */
  readonly words: { readonly [scope: string]: string };
  /** Those of the words that were in what came, or in what the log holds. */
  readonly heard: ReadonlySet<string>;
  /** This tenant has sent a message. */
  readonly hasSpoken: boolean;
}

/** I13: the words of a tenant appear where its own people look, and nowhere else. */
export function checkTenantWords({ scope, words, heard, hasSpoken }: TenantEvidence): readonly string[] {
  const foreign = Object.entries(words).filter(([other, word]) => other !== scope && heard.has(word));
  const own = words[scope] ?? "";
  return [
    ...foreign.map(([other]) => `I13: the tenant ${scope} was told what ${other} said`),
    ...(hasSpoken && !heard.has(own) ? [`I13: the tenant ${scope} was not told its own words, so that nothing is known of others'`] : []),
  ];
}

/** What a node answered to a tenant that asked for what is another's. */
export interface ForeignAnswer {
  readonly asked: string;
  readonly status: number;
}

/** I13: what is another tenant's is not there. */
export function checkForeignAnswers(answers: readonly ForeignAnswer[]): readonly string[] {
  return answers
    .filter(({ status }) => status !== 404)
    .map(({ asked, status }) => `I13: ${asked} of another tenant was answered with ${status}, not with 404`);
}
