import Foundation
import LarderStorage

/// The key of the files that a rig opens: none, or one where the environment's `LARDER_TEST_KEY` is set, which runs
/// tests on encrypted files.
enum RigKey {
  static let variable = "LARDER_TEST_KEY"

  static var isUsed: Bool { ProcessInfo.processInfo.environment[variable]?.isEmpty == false }

  static func fromEnvironment() throws(StorageError) -> StorageKey? { isUsed ? try make() : nil }

  static func make() throws(StorageError) -> StorageKey { try StorageKey(bytes: (0..<32).map { $0 * 7 }) }
}
