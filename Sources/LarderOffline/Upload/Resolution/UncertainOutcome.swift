/// What became of a request whose outcome is uncertain: the one table of such decisions. Pure.
///
/// A request is *uncertain* from the moment it leaves until its outcome is known: its response was lost, or says nothing of
/// it. A look-up of what the service has now gives an ``Evidence``, and the table gives the outcome. A look-up that cannot
/// decide makes the request *unclear*: it goes to the error archive and is never sent again automatically.
///
/// | evidence | creation | creation, service's key | change | deletion | call |
/// | --- | --- | --- | --- | --- | --- |
/// | `unanswered` | unclear | unclear | unclear | not done under an ETag, else unclear | unclear |
/// | `absent` | not done | not done | conflict* | done | unclear |
/// | `gone` | conflict* | unclear | conflict* | done | unclear |
/// | `asSent` | done | done | done | done | unclear |
/// | `sameVersion` | unclear | unclear | not done | not done | unclear |
/// | `asBefore` | unclear | unclear | conflict under an ETag, else not done | the same | unclear |
/// | `different` | conflict* | unclear | conflict* | conflict* | unclear |
/// | `ambiguous` | unclear | unclear | unclear | unclear | unclear |
///
/// A conflict with an asterisk may have taken effect before another client changed the entity. A policy does not apply it
/// again automatically; only a person or a resolver of the application may.
///
/// What cannot be detected: an entity that was created and deleted by another client before any look-up or download saw it
/// (`absent`); a value that another client has set back to what it was before (`asBefore`); an entity that was deleted and
/// created again with the same values; a link that was added or removed, and then removed or added again by another client;
/// a link that another client has changed alone, where neither an ETag nor a property of its source tells and its earlier
/// state is not in the store; a value that another client has given a property which the creation left out (it may be the
/// service's default).
enum UncertainOutcome: Hashable, Sendable {
  /// The service has done it.
  case done
  /// The service has not done it: it is sent again.
  case notDone
  /// The entity is another version than the request was based on. It goes by the conflict policy.
  case conflict(mayHaveTakenEffect: Bool)
  /// Nobody can tell. It goes to the error archive.
  case unclear

  /// What kind of request it is.
  enum Kind: Hashable, Sendable, CaseIterable {
    /// Creates an entity under the caller's key.
    case creation
    /// Creates an entity whose key the service gives.
    case creationWithoutKey
    /// Changes properties, links, or the bytes of a stream.
    case change
    /// Deletes an entity.
    case deletion
    /// Cannot be looked up: an action, or a media entity created from bytes.
    case call
  }

  /// What a look-up found.
  enum Evidence: Hashable, Sendable, CaseIterable {
    /// The service does not answer the look-up.
    case unanswered
    /// The entity is not there, and the store never saw it there.
    case absent
    /// The entity was there and no longer is.
    case gone
    /// Everything is as the request leaves it.
    case asSent
    /// The ETag is the one that the request was sent under.
    case sameVersion
    /// What the request changes still has its earlier values.
    case asBefore
    /// What the request changes has neither the values that were sent nor the earlier ones.
    case different
    /// It may be what the request did: an entity agrees in part, several agree, or the earlier values are not known.
    case ambiguous
  }

  /// The table.
  ///
  /// - Parameter isConditional: the request was sent under an ETag, and the service gives the entity one.
  static func of(_ kind: Kind, _ evidence: Evidence, isConditional: Bool) -> UncertainOutcome {
    switch (kind, evidence) {
    case (.call, _), (_, .ambiguous): .unclear
    case (_, .asSent): .done
    // Under its ETag a deletion that is repeated does no harm: it fails where another version is there.
    case (.deletion, .unanswered): isConditional ? .notDone : .unclear
    case (_, .unanswered): .unclear
    case (.deletion, .absent), (.deletion, .gone): .done
    case (.creation, .absent), (.creationWithoutKey, .absent): .notDone
    case (.change, .absent), (.change, .gone), (.creation, .gone): .conflict(mayHaveTakenEffect: true)
    case (.change, .sameVersion), (.deletion, .sameVersion): .notDone
    case (.change, .asBefore), (.deletion, .asBefore):
      isConditional ? .conflict(mayHaveTakenEffect: false) : .notDone
    case (.creation, .different), (.change, .different), (.deletion, .different):
      .conflict(mayHaveTakenEffect: true)
    case (.creation, .sameVersion), (.creation, .asBefore), (.creationWithoutKey, _): .unclear
    }
  }
}

extension UncertainOutcome.Evidence {
  /// What an entity that is there shows.
  ///
  /// - Parameters:
  ///   - etag: the entity's ETag now.
  ///   - condition: the ETag that the request was sent under; nil for none and for `*`.
  ///   - isAsSent: it has everything that was sent.
  ///   - isAsBefore: what the request changes has its earlier values; nil where these are not known.
  init(etag: String?, condition: String?, isAsSent: Bool, isAsBefore: Bool?) {
    // The values count first: the ETags of some services stay the same for a while.
    if isAsSent {
      self = .asSent
    } else if let condition, let etag, etag == condition {
      self = .sameVersion
    } else if let isAsBefore {
      self = isAsBefore ? .asBefore : .different
    } else {
      self = condition != nil && etag != nil ? .different : .ambiguous
    }
  }
}
