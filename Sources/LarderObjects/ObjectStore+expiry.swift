#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ObjectStore {
  /// The expiry date of a value that is stored now; nil if it does not expire.
  func expiry(_ lifetime: Duration?) -> Date? {
    guard let lifetime else { return nil }
    let seconds = Double(lifetime.components.seconds) + Double(lifetime.components.attoseconds) / 1e18
    return Timestamp.date(memory.now()).addingTimeInterval(seconds)
  }
}
