import LarderHTTP
import LarderService

/// What the response to a delta link says about the cached response. Its payload is used for nothing else.
enum DeltaVerdict: Sendable, Equatable {
  /// Nothing changed, certainly: the cached response equals the server's. Holds the next delta link, if one is given.
  case unchanged(deltaLink: String?)
  /// Something changed, or the form of the response cannot prove that nothing did: one complete read follows.
  case readAgain
  /// The link has expired: it is removed, and one complete read follows.
  case expired

  /// Judges a response with a status of 2xx, or 304.
  init(_ response: ODataSingleResponse) {
    if response.httpStatus == 304 || response.isNotModified {
      self = .unchanged(deltaLink: nil)
      return
    }
    guard response.httpStatus == 200, !response.payloadBytes.isEmpty else {
      self = .readAgain
      return
    }
    let survey = PayloadSurvey(response.payloadBytes, contentType: response.fields[.contentType])
    self = survey.isWhole && survey.isEmptyDelta ? .unchanged(deltaLink: survey.deltaLink) : .readAgain
  }

  /// Judges a rejection; nil if the failure is the request's own (network, credentials, overload).
  init?(_ failure: ODataServiceError) {
    switch failure.httpStatus {
    case 400, 404, 405, 406, 409, 410, 412, 415, 422, 500, 501: self = .expired
    default: return nil
    }
  }
}
