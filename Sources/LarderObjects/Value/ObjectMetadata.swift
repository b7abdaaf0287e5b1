#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The metadata of a value.
public struct ObjectMetadata: Sendable, Hashable {
  /// The key.
  public let key: String
  /// When a value was first put under the key, since the key was last absent; in microseconds.
  public let created: Date
  /// When the value was last put.
  public let updated: Date
  /// The date from which the value is absent; nil if it does not expire.
  public let expires: Date?
  /// How often the value was requested by key and found since it was created. Includes all requests of this process,
  /// and those of other processes whose counts they have written.
  public let timesRequested: Int
  /// The encoded value's length in bytes.
  public let byteCount: Int
  /// The labels, in the order of their UTF-8 bytes.
  public let labels: [String]
  /// How the value is encoded in the file.
  public let coding: ObjectCoding
}

/// Timestamps as stored in the file: microseconds since 1970.
enum Timestamp {
  /// The timestamp of a date. Dates outside the range of the number become its limit.
  static func of(_ date: Date) -> Int64 {
    let seconds = date.timeIntervalSince1970
    guard seconds.isFinite else { return seconds < 0 ? .min : .max }
    return Int64(exactly: (seconds * 1_000_000).rounded(.down)) ?? (seconds < 0 ? .min : .max)
  }

  static func date(_ timestamp: Int64) -> Date { Date(timeIntervalSince1970: Double(timestamp) / 1_000_000) }
}
