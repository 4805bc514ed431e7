"""A large array broadcast to every worker, a copy gathered from each: what moving data costs."""
