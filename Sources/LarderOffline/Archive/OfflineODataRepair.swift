/// How a rejected creation is repaired.
public enum OfflineODataRepair: Sendable, Hashable {
  /// Send an update of the entity that the service has under the key. The values of the creation are applied on top of
  /// it.
  case update
  /// Send the creation with another key, written as in the parentheses of a path: `7`, `Year=2026,Number='A1'`.
  case key(String)
}
