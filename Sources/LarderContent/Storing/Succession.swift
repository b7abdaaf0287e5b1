/// What a response does to a success that is stored for the same request.
///
/// No error and no redirect takes the place of a success: it is shown again where the server confirms it, and to offline
/// queries.
package enum Succession: Sendable, Hashable {
  /// 2xx: it takes the success's place.
  case replaces
  /// 404, 410 or a redirect: where it may be stored, it is kept beside the success and hides it.
  case hides
  /// Any other status: it changes nothing and is not stored.
  case leaves

  /// What responses with a status do.
  package init(status: Int) {
    switch status {
    case 200...299: self = .replaces
    case 300...303, 305...308, 404, 410: self = .hides
    default: self = .leaves
    }
  }

  /// What `Cache-Status` says in `detail` of a success that a response with this status hides.
  package static func detail(hiddenBy status: Int) -> String { status < 400 ? "moved" : "gone" }
}

extension StoredRules {
  /// True for a response that no error takes the place of.
  package var isSuccess: Bool { Succession(status: status) == .replaces }
}
