internal import LarderService

extension CommandSyntax {
  /// `larder demo`: run by `make demo`, in one process while the server runs and in another after it has ended.
  static let demo: CommandSyntax = .init(
    "demo", summary: "show the stores at work on a test server; make demo runs it",
    discussion: [
      "read opens a store for each of two services, reads sales orders (V2), products (V4) and one order twice and "
        + "shows when the cached and when the server's answer came. offline does the same reads with the server gone: "
        + "passive, then active. compare reads all sales orders from a clone and from its service and tells what differs: "
        + "1 is the exit status where anything does. All times and numbers are measured."
    ],
    subcommands: [
      CommandSyntax(
        "read", summary: "read twice while the server lives", options: DemoOptions.all, body: DemoReading.run),
      CommandSyntax(
        "offline", summary: "read again when it is gone", options: DemoOptions.all, body: DemoReading.runOffline),
      CommandSyntax(
        "compare", summary: "compare the orders of a clone with those of its service", options: [DemoOptions.orders],
        body: DemoComparison.run),
    ],
    isHidden: true)
}

/// The options of both halves.
enum DemoOptions {
  static let base = OptionSyntax("--service-base", valueName: "URL", .text, "where mock-sap answers")
  static let cache = OptionSyntax("--cache", valueName: "DIR", .directory, "the folder of the caches")
  static let all = [base, cache]
  static let orders = OptionSyntax(
    "--order", valueName: "NUMBER", .text, isRepeatable: true, "show what both have of this order")
}
