import LarderHTTP
import LarderOData
import LarderService

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
  /// The service failed: it goes to the archive, and the upload continues, but the service may have executed it.
  case failed
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
  ///   - isRedirectedWithin: whether a redirect leads to the origin of the service.
  static func of(
    status: Int, isRemoval: Bool, hasChallenge: Bool, isRedirectedWithin: Bool = false
  ) -> UploadOutcome {
    switch status {
    case 200...299: .done
    // The request was executed, and another resource shows the result (RFC 9110 §15.4.4).
    case 303: .stop(mayHaveTakenEffect: true)
    // Frameworks send these like 303 (RFC 9110 §15.4.2, §15.4.3). To another origin they lead to a login page, or from http
    // to https.
    case 301, 302: .stop(mayHaveTakenEffect: isRedirectedWithin)
    // The request must be sent to another URL (RFC 9110 §15.4.8, §15.4.9), or an intermediary in front of the service wants
    // a login (RFC 6585 §6).
    case 300, 305...399, 511: .stop(mayHaveTakenEffect: false)
    case 404, 410: isRemoval ? .doneBefore : .rejected
    case 412: .conflict
    case 428: .needsCondition
    // Not executed for lack of credentials, time or capacity: RFC 9110 §15.5.2, §15.5.9, RFC 6585 §4, RFC 8470 §5.2.
    case 401, 407, 408, 425, 429: .stop(mayHaveTakenEffect: false)
    case 403: hasChallenge ? .stop(mayHaveTakenEffect: false) : .rejected
    // Sent by a gateway, so it is not known what the service did. 503 often comes from a gateway, too.
    case 502, 503, 504: .stop(mayHaveTakenEffect: true)
    // The service has no such function (RFC 9110 §15.6.2, §15.6.6).
    case 501, 505: .rejected
    case 500...: .failed
    default: .rejected
    }
  }

  /// The meaning of an error of the conversation.
  static func of(_ error: ODataServiceError, isRemoval: Bool) -> UploadOutcome {
    if error.isForeign { return .stop(mayHaveTakenEffect: false) }
    return switch error.category {
    case .http(let status, _):
      of(
        status: status, isRemoval: isRemoval, hasChallenge: error.response?.fields.contains(.wwwAuthenticate) ?? false,
        isRedirectedWithin: error.response.map(staysAtOrigin) ?? true)
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

  /// Whether the `Location` of a response leads to the origin to which the request was sent, or is not known.
  private static func staysAtOrigin(_ response: ODataSingleResponse) -> Bool {
    guard let location = response.fields[.location], let url = URL(string: response.url),
      let target = URL(string: location, relativeTo: url)?.absoluteURL
    else { return true }
    return HTTPRedirection.origin(target) == HTTPRedirection.origin(url)
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
