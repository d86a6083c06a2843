// A product with an assistant of its own: users and teams, a module with tools, a call that a person decides on, and notifications.
// Everything comes from published packages; what is the product's own stands in this file.
import { createApprovals } from "@loopwright/approvals";
import { type Access, AgentError, createAgent, defineTools, type Runtime } from "@loopwright/core";
import type { ModelProvider, SessionStore } from "@loopwright/core/ports";
import { compose, embedOptions, fromStatic, fromTeam, type Modules, platformTools } from "@loopwright/embed";
import { createRuntime } from "@loopwright/host";
import { type AgentServer, type Authorize, createServer, type Principal } from "@loopwright/server";

/** A user of the shop, as its own user table has it. */
export interface ShopUser {
  readonly name: string;
  readonly team: string;
  readonly role: "clerk" | "manager" | "service";
}

export interface Order {
  readonly id: string;
  readonly team: string;
  readonly item: string;
  readonly euros: number;
  status: "open" | "refunded";
}

export interface ShopOptions {
  readonly provider: ModelProvider;
  readonly store: SessionStore;
  /** By session cookie of the shop. */
  readonly users: ReadonlyMap<string, ShopUser>;
  readonly orders: Order[];
}

export interface Shop {
  readonly server: AgentServer;
  readonly runtime: Runtime;
}

const teams: { readonly [id: string]: { readonly name: string; readonly manners: string } } = {
  tulips: { name: "Tulips Ltd", manners: "The team writes without exclamation marks." },
  roses: { name: "Roses & Sons", manners: "The team calls its customers guests." },
};

/** What tools of the shop work with: the product's own services. */
interface ShopServices {
  readonly orders: readonly Order[];
  /** Makes the team's pages read the orders again. */
  readonly changed: (team: string, order: string) => void;
}

const defineShopTool = defineTools<ShopServices>();

/** An order of the caller's team. What belongs to another team is as unknown as what does not exist. */
const orderOf = (orders: readonly Order[], id: string, { scope }: Access): Order | undefined =>
  orders.find((one) => one.id === id && one.team === scope);

const byId = { type: "object", properties: { id: { type: "string" } }, required: ["id"], additionalProperties: false } as const;

const listOrders = defineShopTool({
  name: "list_orders",
  label: "List the orders",
  description: "Lists the orders of the team.",
  parameters: { type: "object", properties: {}, additionalProperties: false },
  replay: "pure",
  execute: (_: unknown, { resources, access }) => resources.orders.filter(({ team }) => team === access.scope),
});

const refundOrder = defineShopTool({
  name: "refund_order",
  label: "Refund an order",
  description: "Gives the money of an order back.",
  parameters: byId,
  // Small amounts need no person.
  approval({ id }: { readonly id: string }, { resources, access }) {
    const { euros = 0 } = orderOf(resources.orders, id, access) ?? {};
    return euros > 100 ? { action: "ask", reason: "It is more than 100 euros.", timeoutMs: 86_400_000 } : false;
  },
  execute({ id }: { readonly id: string }, { resources, access }) {
    const order = orderOf(resources.orders, id, access);
    if (!order) throw new AgentError("TOOL_ARGUMENTS", { message: `There is no order ${id.slice(0, 20)}.`, fix: "List the orders first." });
    order.status = "refunded";
    resources.changed(order.team, order.id);
    return `Refunded ${order.euros} euros for ${order.item}.`;
  },
});

const modules: Modules = {
  orders: {
    title: "Orders",
    prompt: "The user looks at the list of orders.",
    tools: [listOrders, refundOrder],
    hints: { opens: "/orders" },
  },
};

/** Sessions of the shop belong to teams: a team is the scope, and only managers decide on calls. */
const authorize: Authorize = ({ roles = [] }, action) => action !== "session.decide" || roles.includes("manager");

/** The shop's assistant as a server, for the shop's own HTTP server to mount. */
export function createShop({ provider, store, users, orders }: ShopOptions): Shop {
  const approvals = createApprovals();
  const services: ShopServices = {
    orders,
    changed: (team, order) => server.notify(team, { type: "refresh_orders", data: { order } }),
  };
  const assistant = createAgent<unknown, ShopServices>({
    name: "shop-assistant",
    provider,
    resources: services,
    prompt: compose(
      fromStatic("You are the assistant of a flower shop. Be brief."),
      fromTeam(({ scope }) => teams[scope]?.manners),
    ),
    tools: platformTools({ modules, team: ({ scope }) => (teams[scope] ? { name: teams[scope].name } : undefined) }),
    hooks: [approvals.hooks],
  });
  const { agents, ...embedding } = embedOptions({ agents: [assistant], modules });
  const runtime = createRuntime({ agents, store });
  const authenticate = (request: Request): Principal | undefined => {
    const cookie = /(?:^|; )shop=([a-z0-9]+)/.exec(request.headers.get("Cookie") ?? "")?.[1];
    const user = cookie === undefined ? undefined : users.get(cookie);
    return user && { user: user.name, scope: user.team, roles: [user.role], ...(user.role === "service" ? { trusted: true } : {}) };
  };
  const server = createServer({ runtime, ...embedding, authenticate, authorize, approvals: approvals.memory });
  return { server, runtime };
}
