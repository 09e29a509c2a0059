// SPDX-License-Identifier: MIT

/// The channels that are registered with a loop, and their descriptors; epoll's token is the index of a slot.
///
/// Slots are reused. A registration carries the number of uses of its slot, so that a late event of a registration that has ended
/// finds no channel. A value, owned by `LoopCore`.
struct RegistrationSlab {
    private struct Slot {
        var use: UInt32 = 0
        var descriptor: Int32 = -1
        var channel: (any LoopChannel)?
    }

    private var slots: [Slot] = []
    private var free: [UInt32] = []

    /// The number of registered channels.
    private(set) var count = 0

    /// All registrations, in no order.
    var all: [Registration] {
        slots.indices.filter { slots[$0].channel != nil }
            .map { Registration(slot: UInt32($0), use: slots[$0].use) }
    }

    /// Adds a channel.
    mutating func add(_ descriptor: Int32, _ channel: any LoopChannel) -> Registration {
        count += 1
        guard let reused = free.popLast() else {
            slots.append(Slot(descriptor: descriptor, channel: channel))
            return Registration(slot: UInt32(slots.count - 1), use: 0)
        }
        slots[Int(reused)].descriptor = descriptor
        slots[Int(reused)].channel = channel
        return Registration(slot: reused, use: slots[Int(reused)].use)
    }

    /// Returns the channel of a registration; nil if it has ended.
    func channel(for registration: Registration) -> (any LoopChannel)? {
        let slot = Int(registration.slot)
        guard slot < slots.count, slots[slot].use == registration.use else { return nil }
        return slots[slot].channel
    }

    /// Gives the registration to another channel; returns false if it has ended.
    mutating func replaceChannel(of registration: Registration, with channel: any LoopChannel) -> Bool {
        let slot = Int(registration.slot)
        guard slot < slots.count, slots[slot].use == registration.use, slots[slot].channel != nil else {
            return false
        }
        slots[slot].channel = channel
        return true
    }

    /// Ends a registration. The caller releases the returned channel, when the slab is not being accessed. Nil if it had ended
    /// before.
    mutating func remove(_ registration: Registration) -> (descriptor: Int32, channel: any LoopChannel)? {
        let slot = Int(registration.slot)
        guard slot < slots.count, slots[slot].use == registration.use,
            let channel = slots[slot].channel.take()
        else { return nil }
        slots[slot].use &+= 1
        free.append(registration.slot)
        count -= 1
        return (slots[slot].descriptor, channel)
    }
}
