#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ObjectStore {
  /// The expiry date of a value that is stored now; nil if it does not expire.
  func expiry(_ ttl: Duration?) -> Date? {
    guard let ttl else { return nil }
    let seconds = Double(ttl.components.seconds) + Double(ttl.components.attoseconds) / 1e18
    return Timestamp.date(memory.now()).addingTimeInterval(seconds)
  }
}
