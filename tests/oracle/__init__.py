"""What commands really touch, held against what the policy's facts say that they touch."""
