#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What the store knows about a value, without the value.
public struct ObjectMetadata: Sendable, Hashable {
  /// The key.
  public let key: String
  /// When a value was first put under the key, since the key was last absent; in microseconds.
  public let created: Date
  /// When the value was last put.
  public let updated: Date
  /// From when on it is absent; nil where it stays.
  public let expires: Date?
  /// How often it was asked for by key and found, since it was created: by this process up to now, by others as far as
  /// they have written their counts.
  public let timesRequested: Int
  /// The encoded value's length in bytes.
  public let size: Int
  /// Its labels, in order of their UTF-8 bytes.
  public let labels: [String]
  /// How it lies in the file.
  public let coding: ObjectCoding
}

/// Moments as the file keeps them: microseconds since 1970.
enum Moment {
  /// The moment of a date; dates beyond what fits are the last that does.
  static func of(_ date: Date) -> Int64 {
    let seconds = date.timeIntervalSince1970
    guard seconds.isFinite else { return seconds < 0 ? .min : .max }
    return Int64(exactly: (seconds * 1_000_000).rounded(.down)) ?? (seconds < 0 ? .min : .max)
  }

  static func date(_ moment: Int64) -> Date { Date(timeIntervalSince1970: Double(moment) / 1_000_000) }
}

extension ObjectStore {
  /// The moment at which a value that comes now has lived its time; nil where it stays.
  func expiry(_ lifetime: Duration?) -> Date? {
    guard let lifetime else { return nil }
    let seconds = Double(lifetime.components.seconds) + Double(lifetime.components.attoseconds) / 1e18
    return Moment.date(memory.now()).addingTimeInterval(seconds)
  }
}
