import Foundation
import LarderOData

/// Fuzzes the language for a time: each step has a seed of its own, from which a run can begin again.
struct FuzzRun {
  /// What was done.
  struct Report: Sendable {
    var steps = 0
    var trees = 0
    var failures: [FuzzFailure] = []
  }

  let corpus: [FuzzCase]
  /// Called with each text before it is read.
  var willRead: (FuzzCase) -> Void = { _ in }

  /// Steps from a seed until the time is over, or so many failures are found.
  func run(seed: UInt64, seconds: Double, mostFailures: Int = 10) -> Report {
    var report = Report()
    var seed = seed
    let end = ContinuousClock.now + .seconds(seconds)
    while ContinuousClock.now < end, report.failures.count < mostFailures {
      step(seed: seed, &report)
      var random = FuzzRandom(seed: seed)
      seed = random.next()
    }
    return report
  }

  /// One text, or the trees of one generator.
  func step(seed: UInt64, _ report: inout Report) {
    report.steps += 1
    var random = FuzzRandom(seed: seed ^ 0x5EED)
    let mode = random.below(4)
    guard mode > 0 else {
      trees(seed: seed, random.pick([.v401, .v401, .v4, .v2]), &report)
      return
    }
    var mutator = FuzzMutator(corpus: corpus, random: random)
    let item = mode == 1 ? mutator.rubbish() : mutator.mutant()
    willRead(item)
    guard let complaint = FuzzChecks.complaint(item) else { return }
    report.failures.append(
      FuzzFailure(what: complaint, entry: item.entry, version: item.version, text: item.text, seed: seed))
  }

  /// A tree of each kind, printed and read back.
  private func trees(seed: UInt64, _ version: ODataVersion, _ report: inout Report) {
    var generator = TreeGenerator(version: version, seed: seed, depth: 2 + Int(seed % 5))
    let parser = ODataParser(version)
    let printer = ODataPrinter(version: version)
    func check(_ entry: FuzzEntry, _ finding: (what: String, text: String)?) {
      report.trees += 1
      guard let finding else { return }
      report.failures.append(
        FuzzFailure(what: finding.what, entry: entry, version: version, text: finding.text, seed: seed))
    }
    check(
      .expression,
      FuzzChecks.complaint(generator.expression()) { tree throws(ODataPrintingError) in
        try printer.print(tree)
      } parse: { text throws(ODataSyntaxError) in
        try parser.expression(text)
      })
    check(
      .queryOptions,
      FuzzChecks.complaint(generator.queryOptions()) { tree throws(ODataPrintingError) in
        try printer.print(tree)
      } parse: { text throws(ODataSyntaxError) in
        try parser.queryOptions(text)
      })
    let url = generator.url()
    check(
      .url,
      FuzzChecks.complaint(url) { tree throws(ODataPrintingError) in
        try printer.print(tree)
      } parse: { text throws(ODataSyntaxError) in
        try parser.url(text, serviceRoot: url.serviceRoot)
      })
    guard generator.isV4 else { return }
    check(
      .apply,
      FuzzChecks.complaint(generator.transformations()) { tree throws(ODataPrintingError) in
        try printer.print(tree)
      } parse: { text throws(ODataSyntaxError) in
        try parser.apply(text)
      })
    check(
      .contextFragment,
      FuzzChecks.complaint(generator.contextFragment()) { tree throws(ODataPrintingError) in
        try printer.print(tree)
      } parse: { text throws(ODataSyntaxError) in
        try parser.contextFragment(text)
      })
  }
}
