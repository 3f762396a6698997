/** What routes there are: for the methods of a path, and for the description of the API. */
import type { RouteOptions } from "fastify";

export interface RouteMap {
  add(route: RouteOptions): void;
  routes(): readonly RouteOptions[];
  /** Methods that a path takes; none = there is nothing there. */
  methodsOf(path: string): string[];
}

export function makeRouteMap(): RouteMap {
  const routes: { readonly route: RouteOptions; readonly pattern: RegExp }[] = [];
  return {
    add: (route) => void routes.push({ route, pattern: patternOf(route.url) }),
    routes: () => routes.map((one) => one.route),
    methodsOf: (path) => [...new Set(routes.filter((one) => one.pattern.test(path)).flatMap((one) => one.route.method))].sort(),
  };
}

function patternOf(url: string): RegExp {
  const source = url.split("/").map((part) => (part.startsWith(":") ? "[^/]+" : part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))).join("/");
  return new RegExp(`^${source}$`);
}
