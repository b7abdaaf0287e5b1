import LarderCore
import LarderOData
import LarderService
import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The local value of a key property until the server assigns one. It is never sent.
enum LocalKey {
  /// A value that no entity of the store has; nil if the type has no values that are reliably unused.
  ///
  /// - Parameter row: the entity's identity, which no other entity has.
  static func value(_ column: ReplicaColumn, row: Int64, _ environment: LarderEnvironment) -> SQLValue? {
    switch column.storage {
    case .integer:
      guard let type = column.type.primitive, type.integerRange.contains(-row) else { return nil }
      return .integer(-row)
    case .decimal:
      let digits = column.property?.facets.precision ?? 18
      return String(row).utf8.count <= digits ? .text(String(-row)) : nil
    case .guid: return .text(environment.uuid().uuidString.lowercased())
    case .string:
      let limit = if case .limit(let limit)? = column.property?.facets.maxLength { limit } else { 64 }
      let number = String(row, radix: 36)
      // Services number short keys, such as `000010` of an item. None begins with a tilde.
      let values = limit >= 8 ? ["larder-" + number, "l-" + number] : limit >= 4 ? ["~" + number] : []
      return values.first { $0.utf8.count <= limit }.map { .text($0) }
    default: return nil
    }
  }
}
