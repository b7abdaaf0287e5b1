/// How a response affects a success that is stored for the same request.
///
/// No error and no redirect replaces a success: the success is used again when the server confirms it, and for offline
/// queries.
package enum Succession: Sendable, Hashable {
  /// 2xx: the response replaces the success.
  case replaces
  /// 404, 410 or a redirect: if it may be stored, it is stored beside the success and hides it.
  case hides
  /// Any other status: the response changes nothing and is not stored.
  case leaves

  /// The effect of responses with a status.
  package init(status: Int) {
    switch status {
    case 200...299: self = .replaces
    case 300...303, 305...308, 404, 410: self = .hides
    default: self = .leaves
    }
  }

  /// The `detail` of `Cache-Status` for a success that a response with this status hides.
  package static func detail(hiddenBy status: Int) -> String { status < 400 ? "moved" : "gone" }
}

extension StoredRules {
  /// True for a response that no error replaces.
  package var isSuccess: Bool { Succession(status: status) == .replaces }
}
