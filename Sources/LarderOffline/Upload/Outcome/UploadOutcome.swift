import LarderHTTP
import LarderOData
import LarderService

/// What an answer means for the request that it answers.
enum UploadOutcome: Hashable, Sendable {
  /// It took effect.
  case done
  /// It took effect before, by whomever: the DELETE of what is gone.
  case doneBefore
  /// The entity has changed at the service: 412.
  case conflict
  /// The service does it under a condition alone: 428.
  case needsCondition
  /// The service, or this library, refuses it for good: it goes to the archive, and the upload goes on.
  case rejected
  /// The upload stops and the request stays in the queue; whether it took effect may not be known.
  case stop(mayHaveTakenEffect: Bool)
  /// The answer cannot be read: it may have taken effect, and the upload goes on.
  case unclear
  /// The service ended a batch before it.
  case notSent
}

extension UploadOutcome {
  /// The one table: what a status means.
  ///
  /// - Parameters:
  ///   - isRemoval: the request takes an entity, a link or bytes away.
  ///   - hasChallenge: the answer names a way to authenticate (`WWW-Authenticate`).
  static func of(status: Int, isRemoval: Bool, hasChallenge: Bool) -> UploadOutcome {
    switch status {
    case 200...299: .done
    // Said by what stands before the service, as is a page to sign in with (RFC 6585 §6).
    case 300...303, 305...399, 511: .stop(mayHaveTakenEffect: false)
    case 404, 410: isRemoval ? .doneBefore : .rejected
    case 412: .conflict
    case 428: .needsCondition
    // Not done for lack of credentials, time or capacity: RFC 9110 §15.5.2, §15.5.9, RFC 6585 §4, RFC 8470 §5.2.
    case 401, 407, 408, 425, 429: .stop(mayHaveTakenEffect: false)
    case 403: hasChallenge ? .stop(mayHaveTakenEffect: false) : .rejected
    // Said by what stands between: what the service did is not known. 503 is often said by it, too.
    case 502, 503, 504: .stop(mayHaveTakenEffect: true)
    default: .rejected
    }
  }

  /// What an error of the conversation means.
  static func of(_ error: ODataServiceError, isRemoval: Bool) -> UploadOutcome {
    switch error.category {
    case .http(let status, _):
      of(status: status, isRemoval: isRemoval, hasChallenge: error.response?.fields.contains(.wwwAuthenticate) ?? false)
    case .communication(let error): .stop(mayHaveTakenEffect: !error.isBeforeSending)
    case .authentication, .csrf: .stop(mayHaveTakenEffect: false)
    case .cancelled: .stop(mayHaveTakenEffect: true)
    case .malformedAnswer: UnrecognizedResponse.isOne(error) ? .stop(mayHaveTakenEffect: true) : .unclear
    case .notProcessed: .notSent
    case .invalidRequest, .notSupported: .rejected
    case .notOpen, .suspended, .passive, .notCached: .stop(mayHaveTakenEffect: false)
    }
  }
}

extension BatchRejection {
  /// What the failure of a batch as a whole means; nil where the upload stops.
  static func of(_ error: ODataServiceError) -> BatchRejection? {
    switch error.category {
    case .http(let status, _):
      switch UploadOutcome.of(error, isRemoval: false) {
      case .stop: return nil
      default: break
      }
      switch status {
      // There is no such resource, method, media type or function.
      case 404, 405, 406, 415, 501: return .unsupported
      case 500...: return .unclear
      default: return .rejected
      }
    case .malformedAnswer: return .unreadable
    case .invalidRequest, .notSupported: return .rejected
    default: return nil
    }
  }
}

extension QueuedRequest {
  /// Whether it takes something away: then an answer that it is gone is as good as having done it.
  var isRemoval: Bool { operation == .delete || operation == .deleteLink || operation == .deleteMedia }
}
