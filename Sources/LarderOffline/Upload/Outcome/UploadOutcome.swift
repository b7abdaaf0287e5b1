import LarderHTTP
import LarderOData
import LarderService

/// The meaning of a response for its request.
enum UploadOutcome: Hashable, Sendable {
  /// The request took effect.
  case done
  /// The state that it asks for existed already: the DELETE of an entity that no longer exists.
  case doneBefore
  /// The entity has changed at the service: 412.
  case conflict
  /// The service requires a condition: 428.
  case needsCondition
  /// The service, or this library, rejects it permanently: it goes to the archive, and the upload continues.
  case rejected
  /// The upload stops and the request stays in the queue. It may not be known whether it took effect.
  case stop(mayHaveTakenEffect: Bool)
  /// The response cannot be read: the request may have taken effect, and the upload continues.
  case unclear
  /// The service ended a batch before this request.
  case notSent
}

extension UploadOutcome {
  /// The meaning of a status.
  ///
  /// - Parameters:
  ///   - isRemoval: whether the request removes an entity, a link or bytes.
  ///   - hasChallenge: whether the response names an authentication scheme (`WWW-Authenticate`).
  static func of(status: Int, isRemoval: Bool, hasChallenge: Bool) -> UploadOutcome {
    switch status {
    case 200...299: .done
    // An intermediary in front of the service sends these, as it sends a login page (RFC 6585 §6).
    case 300...303, 305...399, 511: .stop(mayHaveTakenEffect: false)
    case 404, 410: isRemoval ? .doneBefore : .rejected
    case 412: .conflict
    case 428: .needsCondition
    // Not executed for lack of credentials, time or capacity: RFC 9110 §15.5.2, §15.5.9, RFC 6585 §4, RFC 8470 §5.2.
    case 401, 407, 408, 425, 429: .stop(mayHaveTakenEffect: false)
    case 403: hasChallenge ? .stop(mayHaveTakenEffect: false) : .rejected
    // Sent by a gateway, so it is not known what the service did. 503 often comes from a gateway, too.
    case 502, 503, 504: .stop(mayHaveTakenEffect: true)
    default: .rejected
    }
  }

  /// The meaning of an error of the conversation.
  static func of(_ error: ODataServiceError, isRemoval: Bool) -> UploadOutcome {
    if error.isForeign { return .stop(mayHaveTakenEffect: false) }
    return switch error.category {
    case .http(let status, _):
      of(status: status, isRemoval: isRemoval, hasChallenge: error.response?.fields.contains(.wwwAuthenticate) ?? false)
    case .communication(let error): .stop(mayHaveTakenEffect: !error.isBeforeSending)
    case .authentication, .csrf: .stop(mayHaveTakenEffect: false)
    case .cancelled: .stop(mayHaveTakenEffect: true)
    case .malformedResponse: UnrecognizedResponse.isOne(error) ? .stop(mayHaveTakenEffect: true) : .unclear
    case .undecodableType: .unclear
    case .notProcessed: .notSent
    case .invalidRequest, .notSupported: .rejected
    case .notOpen, .suspended, .passive, .notCached, .alreadyOpen, .cacheNotEnabled, .cacheClosed, .cacheNotClosed,
      .cacheInUse, .metadataUnreadable, .storage:
      .stop(mayHaveTakenEffect: false)
    }
  }
}

extension BatchRejection {
  /// The meaning of a failed batch; nil if the upload stops.
  static func of(_ error: ODataServiceError) -> BatchRejection? {
    switch error.category {
    case .http(let status, _):
      switch UploadOutcome.of(error, isRemoval: false) {
      case .stop: return nil
      default: break
      }
      switch status {
      // The resource, method, media type or function does not exist.
      case 404, 405, 415, 501: return .unsupported
      // This is about the form of the response: the service may have executed the batch (RFC 9110 §15.5.7).
      case 406: return .unreadable
      case 500...: return .unclear
      default: return .rejected
      }
    case .malformedResponse: return .unreadable
    case .invalidRequest, .notSupported: return .rejected
    default: return nil
    }
  }
}

extension QueuedRequest {
  /// Whether it removes something: then a response that it does not exist counts as done.
  var isRemoval: Bool { operation == .delete || operation == .deleteLink || operation == .deleteMedia }
}
