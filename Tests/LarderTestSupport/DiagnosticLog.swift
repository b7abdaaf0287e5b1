@_spi(Stores) package import LarderCore

/// Collects what stores report.
package final class DiagnosticLog: Sendable {
  private let diagnostics = Locked<[LarderDiagnostic]>([])

  package init() {}

  package func add(_ diagnostic: LarderDiagnostic) { diagnostics.withLock { $0.append(diagnostic) } }

  package var all: [LarderDiagnostic] { diagnostics.withLock { $0 } }

  /// The first diagnostic with a name.
  package func first(_ name: String) -> LarderDiagnostic? { all.first { $0.name == name } }
}
