internal import LarderService

extension CommandSyntax {
  /// `larder demo`: run by `make demo`, in one process while the server runs and in another after it has ended.
  static let demo: CommandSyntax = .init(
    "demo", summary: "demonstrate the stores with a test server; run it with make demo",
    discussion: [
      "read opens a store for each of two services, reads sales orders (V2), products (V4) and one order twice, and "
        + "shows when the cached response and the server's response arrived. offline repeats the reads with the "
        + "server stopped: first in passive mode, then in active mode. compare reads all sales orders from a clone "
        + "and from its service and shows the differences; the exit status is 1 if there are any. All times and "
        + "numbers are measured."
    ],
    subcommands: [
      CommandSyntax(
        "read", summary: "read twice while the server runs", options: DemoOptions.readOptions, body: DemoReading.run),
      CommandSyntax(
        "offline", summary: "read again when it is stopped", options: DemoOptions.readOptions,
        body: DemoReading.runOffline),
      CommandSyntax(
        "compare", summary: "compare the orders of a clone with those of its service", options: [DemoOptions.orders],
        body: DemoComparison.run),
    ],
    isHidden: true)
}

/// The options of the subcommands.
enum DemoOptions {
  static let base = OptionSyntax("--service-base", valueName: "URL", .text, "the address of mock-sap")
  static let cache = OptionSyntax("--cache", valueName: "DIR", .directory, "the folder of the caches")
  static let readOptions = [base, cache]
  static let orders = OptionSyntax(
    "--order", valueName: "NUMBER", .text, isRepeatable: true, "show this order in the service and in the clone")
}
